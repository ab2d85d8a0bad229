"""The batch run: every puzzle of many files tried, a row for each in a folder of results."""
