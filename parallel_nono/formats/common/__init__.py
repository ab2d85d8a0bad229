"""What several formats share; nothing here is a format."""
