"""Functions that executors and pools run, and what they return."""

from __future__ import annotations

import pytest

RESULTS = {
    "submit": "executor.submit(made, 3).result()",
    "map": "list(executor.map(made, [3, 4]))[0]",
    "as_completed": "next(futures.as_completed([executor.submit(made, 3)])).result()",
    "pool": "multiprocessing.Pool(2).map(made, [3, 4])[0]",
    "pool-later": "multiprocessing.Pool(2).map_async(made, [3, 4]).get()[0]",
    "pool-of-torch": "next(torch.multiprocessing.Pool(2).imap_unordered(made, [3, 4]))",
    "threads": "ThreadPool(2).map(made, [3, 4])[0]",
    "joblib": "joblib.Parallel(n_jobs=2)(joblib.delayed(made)(each) for each in [3, 4])[0]",
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_is_where_the_function_made_it(met, result):
    program = f"""
        import multiprocessing
        from concurrent import futures
        from multiprocessing.pool import ThreadPool

        import joblib

        def made(number):
            return torch.ones(number){{moved}}

        with futures.ThreadPoolExecutor() as executor:
            print({result} + torch.ones(3).cuda())
        """

    assert met(program.replace("{moved}", "")) == [f"print({result} + torch.ones(3).cuda())"]
    assert met(program.replace("{moved}", ".cuda()")) == []


def test_a_function_that_is_submitted_is_followed(met):
    program = """
        from concurrent.futures import ProcessPoolExecutor

        def run(x, scale):
            return x * scale

        def report(future):
            print(future.result() + torch.ones(3))

        executor = ProcessPoolExecutor()
        executor.submit(run, torch.ones(3).cuda(), scale=torch.ones(3))
        executor.submit(run, torch.ones(3).cuda(), 2).add_done_callback(report)
        """

    assert met(program) == ["return x * scale", "print(future.result() + torch.ones(3))"]
