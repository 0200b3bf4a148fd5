"""Queues."""

from queue import Queue as SimpleQueue

# https://docs.python.org/3/library/queue.html
class Queue(Overlay): ...
class LifoQueue(Overlay): ...
