"""Reports for coding agents: one line for each finding, its edit as a minimal hunk, and the next command.

In: the results that the other formats show.  Out: plain text of bounded length.  A line is one of:

- ``PATH:LINE:COLUMN: CODE SEVERITY: MESSAGE; fails at PATH:LINE; STATE``, a finding;
- ``@@ PATH:LINE``, ``-OLD`` and ``+NEW``, the edit of the finding above;
- ``… N more …``, what a limit leaves out, with the way to see it;
- ``devfix: COUNTS; next: COMMAND``, the last line.
"""
