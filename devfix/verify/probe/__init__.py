"""Probe: run one training script and record its losses, steps, parameters and failure.

Input: the command line of :mod:`.program`.  Output: a report, a JSON object whose keys are fields of
``devfix.verify.Run``.  The package imports torch and the standard library only.

It runs in the script's own interpreter, in which devfix need not be installed::

    python probe --report run.json --device sim --simulator DIR -- train.py --epochs 1
    python probe --serve           # requests on stdin, answers on stdout: runs fork from a process with torch loaded

There the package is named ``devfix_probe``, so that its modules cannot shadow a script's.
"""
