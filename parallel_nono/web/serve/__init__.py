"""`pnono serve`: the page, its server, and the processes that do the work.

    app.py     the routes of the server;  guard.py  who may ask for what, and the headers of every answer
    dispatch.py    jobs in line, fair between clients;  worker.py  the process that does them;  jobs.py  what they are
    runs.py    folders of results, finished ones and those that grow
    ../assets  the page itself

The server reads no puzzle: what comes from outside is parsed and solved in processes that can be killed at any moment.
"""
