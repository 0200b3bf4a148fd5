"""Records of migrations: repositories of every outcome, and one whose every text is hostile."""

from devfix.migrate.record import Published, Record, RepositoryOutcome, RunSummary, VerdictSummary

HOSTILE = (
    "</script><script>alert('x')</script><img src=x onerror=alert(1)><!--<script>{{7*7}}"
    "\u2028\x1b[31m\u202e\udce9]]>&lt;b&gt;\"'"
)
PATCH = f"""\
diff --git a/train.py b/train.py
--- a/train.py
+++ b/train.py
@@ -9,6 +9,7 @@
     for images, labels in loader:
         images = images.to(device)
+        labels = labels.to(device)
-        # the labels stay
+        # the labels move
         loss = criterion(model(images), labels)
{" "}
 # no more
"""
LOSSES = (0.9, 0.7, 0.6, 0.55)


def finding(code="DEV101", **changes):
    given = {
        "code": code,
        "name": "batch-not-moved",
        "severity": "error",
        "status": "fixed",
        "message": "`labels` stays on the CPU",
        "path": "train.py",
        "span": {"line": 11, "column": 5, "end_line": 11, "end_column": 9},
        "events": [
            {
                "kind": "created",
                "path": "data.py",
                "line": 3,
                "column": 1,
                "source": "return x, y",
                "note": "made here",
            },
            {"kind": "used", "path": "train.py", "line": 12, "column": 9, "source": "loss = f(x, y)", "note": "fails"},
        ],
        "fix": {"title": "move `labels` to `device`", "applicability": "safe", "files": ["train.py"]},
        "reason": None,
        "notes": [],
    }
    return {**given, **changes}


def verdict(losses=LOSSES, **changes):
    good = RunSummary("ended by itself", True, len(losses), losses, largest_difference=0.0)
    bad = RunSummary("RuntimeError at train.py:12", False, 0, output="epoch 1\n", traceback="Traceback\n  two devices")
    given = {
        "status": "fixed",
        "reason": "the patched script trains the same losses",
        "good": True,
        "reference": "original/cpu",
        "where": "a simulated CUDA device",
        "script": "train.py",
        "arguments": ("--epochs", "1"),
        "runs": {"original/cpu": good, "original/device": bad, "patched/device": good},
    }
    return VerdictSummary(**{**given, **changes})


def record(number=0, outcome=RepositoryOutcome.CLEAN, **changes):
    given = {
        "number": number,
        "name": f"{outcome.value}-{number}",
        "repository": f"https://git.example.org/team/{number}",
        "commit": f"{number:040x}",
        "checked": 2,
        "seconds": 1.5 + number,
        "timings": {"fetch": 0.5, "scan": 1.0},
    }
    return Record(outcome=outcome, **{**given, **changes})


def fixed(number, **changes):
    given = {"findings": (finding(),), "patch": PATCH, "verdict": verdict(), "published": Published("patch", "1.patch")}
    return record(number, RepositoryOutcome.FIXED, **{**given, **changes})


def not_fixed(number, **changes):
    left = finding("DEV301", severity="latent", status="not-fixed", fix=None, reason="line 16 uses it")
    return record(number, RepositoryOutcome.NOT_FIXED, findings=(left,), reason="1 finding is left", **changes)


def failed(number, **changes):
    log = "\x1b[31mfatal:\x1b[0m no such remote\nReceiving: 10%\rReceiving: 99%\n"
    return record(number, RepositoryOutcome.FAILED, stage="fetch", reason="git ended with 128", log=log, **changes)


def hostile(number):
    """Every text is one that tries to run."""
    bad = finding(HOSTILE, name=HOSTILE, message=HOSTILE, path=HOSTILE, reason=HOSTILE, notes=[HOSTILE])
    events = [{**event, "source": HOSTILE, "note": HOSTILE, "kind": HOSTILE} for event in bad["events"]]
    problem = {"path": HOSTILE, "line": 1, "message": HOSTILE, "hint": HOSTILE}
    run = RunSummary(HOSTILE, False, 4, LOSSES, output=HOSTILE, traceback=HOSTILE)
    runs = {HOSTILE: run, "patched/device": run}
    told = verdict(status=HOSTILE, reason=HOSTILE, reference=HOSTILE, where=HOSTILE, script=HOSTILE, notes=(HOSTILE,))
    return record(
        number,
        RepositoryOutcome.NOT_FIXED,
        name="hostile " + HOSTILE,
        repository="javascript:alert(1)//" + HOSTILE,
        ref=HOSTILE,
        folder=HOSTILE,
        commit=HOSTILE,
        reason=HOSTILE,
        log=HOSTILE,
        findings=({**bad, "severity": "error", "status": "not-fixed", "events": events},),
        problems=(problem,),
        notes=(problem,),
        patch=PATCH.replace("labels", HOSTILE).replace("train.py", HOSTILE.replace("\u2028", "")),
        verdict=VerdictSummary(**{**vars(told), "runs": runs}),
        published=Published("push", HOSTILE, HOSTILE, HOSTILE, HOSTILE),
    )


def one_of_each():
    return [record(0), fixed(1), failed(2), not_fixed(3)]
