"""A coordinator in a process of its own, for tests that kill it.

``store_writer.py DATA stop``: finishes run 1, finishes run 2 without telling the index, is busy with run 3, waits.
``store_writer.py DATA go``: works through many runs without a pause.
"""

import sys
from pathlib import Path

from store_samples import experiment, finish, result, start

from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index


def stop(data: Path) -> None:
    with Index.open(data) as index:
        record = experiment(index.next_experiment_id())
        folder = ExperimentFolder(data, record.id)
        with folder.hold():
            folder.begin(record)
            index.update_experiment(record.id)
            first, second, third, _ = record.plan.runs
            for run in (first, second):
                work = start(folder.run_path(run.id), record, run, lambda run_id: index.update_run(record.id, run_id))
                finish(work, result(record, run))
                if run is first:
                    index.update_run(record.id, run.id)
            start(folder.run_path(third.id), record, third, lambda run_id: index.update_run(record.id, run_id))
            print(record.id, flush=True)
            sys.stdin.read()


def go(data: Path) -> None:
    with Index.open(data) as index:
        record = experiment(index.next_experiment_id(), runs=500)
        folder = ExperimentFolder(data, record.id)
        with folder.hold():
            folder.begin(record)
            index.update_experiment(record.id)
            print(record.id, flush=True)
            for run in record.plan.runs:
                work = start(folder.run_path(run.id), record, run, lambda run_id: index.update_run(record.id, run_id))
                finish(work, result(record, run))
                index.update_run(record.id, run.id)


if __name__ == "__main__":
    {"stop": stop, "go": go}[sys.argv[2]](Path(sys.argv[1]))
