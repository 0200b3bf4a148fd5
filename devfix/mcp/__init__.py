"""A server of the Model Context Protocol: coding agents call devfix as tools.

In: calls of tools over standard input and output, or over HTTP on loopback.  Out: structured answers of bounded
length.  Each call runs a command of devfix in a process of its own, so that it can be cancelled, and nothing of it
stays in the server.

May import everything below it: ``devfix.model`` and ``report``; commands run in processes of their own.
"""
