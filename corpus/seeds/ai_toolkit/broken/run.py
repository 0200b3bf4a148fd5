import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))

from jobs.train_job import TrainJob  # noqa: E402


def main():
    with open(sys.argv[1]) as f:
        config = json.load(f)
    job = TrainJob(config)
    job.run()


if __name__ == "__main__":
    main()
