"""Repositories go to the host that has their mirror, and no host waits."""

from collections import Counter
from dataclasses import replace

from devfix.migrate.engines.affinity import Affinity
from devfix.migrate.task import Task

HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]


def tasks(count):
    return [Task(number, f"r{number}", f"https://h/{number}") for number in range(count)]


def homes(hosts, count=2000):
    affinity = Affinity(iter(()))
    affinity.set_hosts(hosts)
    return {task.number: affinity.host(task) for task in tasks(count)}


def test_the_choice_is_the_same_in_each_run_and_even():
    chosen = homes(HOSTS)

    assert chosen == homes(HOSTS[::-1])
    assert all(350 < count < 650 for count in Counter(chosen.values()).values())


def test_a_host_that_goes_moves_its_own_repositories_only():
    before, after = homes(HOSTS), homes(HOSTS[:3])

    moved = [number for number in before if before[number] != after[number]]
    assert {before[number] for number in moved} == {HOSTS[3]}


def test_folders_of_a_repository_share_a_host():
    affinity = Affinity(iter(()))
    affinity.set_hosts(HOSTS)
    (task,) = tasks(1)

    assert len({affinity.host(replace(task, folder=str(number), ref=str(number))) for number in range(20)}) == 1


def test_every_task_is_taken_once_and_mostly_at_home():
    affinity = Affinity(iter(tasks(1000)))
    affinity.set_hosts(HOSTS)
    home = homes(HOSTS, 1000)

    taken = [(host, affinity.take(host, 8)) for _ in range(250) for host in HOSTS]

    assert sorted(task.number for _, task in taken) == list(range(1000))
    assert sum(home[task.number] == host for host, task in taken) > 800
    assert affinity.take(HOSTS[0], 8) is None


def test_no_host_waits_while_another_has_tasks():
    (task,) = tasks(1)
    affinity = Affinity(iter([replace(task, number=number) for number in range(8)]))
    affinity.set_hosts(HOSTS)

    assert all(affinity.take(host, 2) is not None for host in HOSTS * 2)


def test_tasks_are_taken_as_they_are_needed():
    read = []
    affinity = Affinity(task for task in tasks(100_000) if not read.append(task))
    affinity.set_hosts(HOSTS)
    for host in HOSTS * 5:
        affinity.take(host, 8)

    assert len(read) < 200


def test_waiting_tasks_find_a_host_when_theirs_goes():
    affinity = Affinity(iter(tasks(100)))
    affinity.set_hosts(HOSTS)
    first = affinity.take(HOSTS[0], 8)
    affinity.set_hosts(HOSTS[1:2])

    rest = [affinity.take(HOSTS[1], 8) for _ in range(99)]

    assert sorted(task.number for task in [first, *rest]) == list(range(100))
