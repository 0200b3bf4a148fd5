"""Command lines: which options are devices, flags or numbers of the followed run."""

from __future__ import annotations

import pytest

PARSER = "import argparse\nparser = argparse.ArgumentParser()\n{argument}\nargs = parser.parse_args()\n"


@pytest.mark.parametrize(
    ("argument", "device"),
    [
        ("parser.add_argument('--device', default='cuda')", "args.device"),
        ("parser.add_argument('--device')", "args.device"),
        ("parser.add_argument('-d', '--device', type=str)", "args.device"),
        ("parser.add_argument('--train-device', default='cuda:1')", "args.train_device"),
        ("parser.add_argument('--where', dest='device', default='cuda')", "args.device"),
        ("parser.add_argument('--gpu', type=int, default=0)", "args.gpu"),
        ("group = parser.add_argument_group('run')\ngroup.add_argument('--device', default='cuda')", "args.device"),
        ("parser.set_defaults(device='cuda')", "args.device"),
        ("parser.add_argument('--device', default='cuda')", "torch.device(args.device)"),
        ("parser.add_argument('--device', default='cuda')", "vars(args)['device']"),
        ("parser.add_argument('--device', default='cuda')", "getattr(args, 'device')"),
    ],
)
def test_an_option_that_names_a_device_is_the_accelerator(place, argument, device):
    assert place(PARSER.format(argument=argument), f"torch.ones(3, device={device})") == "accelerator"


def test_a_switch_that_is_always_on(place):
    program = PARSER.format(argument="parser.add_argument('--no-cuda', action='store_true', default=True)")
    program += "args.cuda = not args.no_cuda and torch.cuda.is_available()\n"

    assert place(program, "torch.ones(3, device='cuda' if args.cuda else 'cpu')") == "cpu"


def test_what_the_program_sets_afterwards_counts(place):
    program = PARSER.format(argument="parser.add_argument('--cpu', action='store_true')")

    assert place(program + "args.where = 'cuda'\n", "torch.ones(3, device=args.where)") == "accelerator"
    assert place(program + "args.where = 'cpu'\n", "torch.ones(3, device=args.where)") == "cpu"


def test_a_namespace_that_is_passed_around_is_the_same(place):
    program = """
        import argparse

        def parse():
            parser = argparse.ArgumentParser()
            parser.add_argument("--no-cuda", action="store_true")
            args = parser.parse_args()
            args.device = torch.device("cpu" if args.no_cuda or not torch.cuda.is_available() else "cuda")
            return args

        def make(args):
            return torch.ones(3).to(args.device)
        """

    assert place(program, "make(parse())") == "accelerator"


def test_click_fills_the_parameters_of_a_command(met):
    program = """
        import click

        @click.command()
        @click.option("--device", default="cuda")
        @click.option("--steps", default=3)
        def main(device, steps):
            print(torch.ones(3, device=device) + torch.ones(3))

        main()
        """

    assert met(program) == ["print(torch.ones(3, device=device) + torch.ones(3))"]


@pytest.mark.parametrize(
    "main",
    [
        pytest.param("import fire\nfire.Fire(main)", id="fire"),
        pytest.param("import typer\ntyper.run(main)", id="typer"),
        pytest.param("if __name__ == '__main__':\n    main()", id="guard"),
        pytest.param("main()", id="bare"),
        pytest.param("import sys\nsys.exit(main())", id="exit"),
        pytest.param("torch.multiprocessing.spawn(main, nprocs=1)", id="spawn"),
        pytest.param("try:\n    main()\nexcept KeyboardInterrupt:\n    pass", id="try"),
        pytest.param("for _ in range(2):\n    main()", id="loop"),
    ],
)
def test_every_kind_of_start_reaches_the_main_function(met, main):
    program = f"def main(*args):\n    print(torch.ones(3).cuda() + torch.ones(3))\n{main}\n"

    assert met(program) == ["print(torch.ones(3).cuda() + torch.ones(3))"]


def test_the_default_backend_of_process_groups_is_the_one_in_use(met):
    program = PARSER.format(argument="parser.add_argument('--dist-backend', default={})")
    summed = "torch.distributed.init_process_group(args.dist_backend)\ntorch.distributed.all_reduce(torch.ones(3))\n"

    assert met(program.format("'nccl'") + summed)
    assert not met(program.format("'gloo'") + summed)
    assert not met(program.format("None") + summed)


EXECUTED = """
device = "cuda"
{code}
model = nn.Linear(2, 2).to(device)
noise = torch.ones(2).to("cuda")
model(noise)
"""


@pytest.mark.parametrize(
    ("code", "configured"),
    [
        ('exec(open("settings.py").read())', True),
        ('exec(open("settings.py").read(), globals())', True),
        ('exec(open("settings.py").read(), {})', False),
        ('exec("steps = 3")', False),
        ("", False),
    ],
    ids=["file", "file-in-this-namespace", "file-in-another", "text", "none"],
)
def test_executed_code_may_choose_the_device_that_is_named_before(analyse, code, configured):
    assert analyse(EXECUTED.format(code=code)).has_configured_device is configured


@pytest.mark.parametrize("line", ["''", "[]", "()", "args=[]"])
@pytest.mark.parametrize(
    ("option", "device"),
    [
        ("'--device', default='cpu'", "args.device"),
        ("'--cuda', action='store_true'", "'cuda' if args.cuda else 'cpu'"),
        ("'--no-cuda', action='store_true', default=True", "'cpu' if args.no_cuda else 'cuda'"),
        ("'--use_gpu', type=bool, default=False", "'cuda' if args.use_gpu else 'cpu'"),
        ("'--gpu', type=int, default=-1", "'cuda' if args.gpu >= 0 else 'cpu'"),
    ],
)
def test_an_empty_command_line_leaves_the_defaults(place, line, option, device):
    program = PARSER.format(argument=f"parser.add_argument({option})")

    assert place(program.replace("parse_args()", f"parse_args({line})"), f"torch.ones(3, device={device})") == "cpu"


def test_a_default_that_is_set_later_replaces_the_first_one(place):
    program = PARSER.format(
        argument="parser.add_argument('--device', default='cpu')\nparser.set_defaults(device='cuda')"
    )

    assert place(program.replace("parse_args()", "parse_args([])"), "torch.ones(3, device=args.device)") != "cpu"


@pytest.mark.parametrize("line", ["", "sys.argv[2:]", "['--device', 'cuda']"])
def test_other_command_lines_may_ask_for_an_accelerator(place, line):
    program = "import sys\n" + PARSER.format(argument="parser.add_argument('--device', default='cpu')")

    assert place(program.replace("parse_args()", f"parse_args({line})"), "torch.ones(3, device=args.device)") != "cpu"


CHOICES = """
x = torch.ones(3)
if args.mode == "DEBUG":
    x = x.cuda()
"""


@pytest.mark.parametrize(
    "choices",
    ["choices=['train', 'test']", "choices=('train', 'test'), default='train'", "choices={'train': 1, 'test': 2}"],
)
@pytest.mark.parametrize("required", ["required=True", "default='test'"])
def test_an_option_is_one_of_its_choices(place, choices, required):
    given = choices if "default" in choices else f"{choices}, {required}"
    program = PARSER.format(argument=f"parser.add_argument('--mode', {given})")

    assert place(program + CHOICES, "x") == "cpu"
    assert place(program + CHOICES.replace("DEBUG", "train"), "x") == "either"
    assert place(program + CHOICES.replace('== "DEBUG"', 'in ("debug", "profile")'), "x") == "cpu"
    assert place(program + CHOICES.replace('== "DEBUG"', 'in ("train", "test")'), "x") == "accelerator"
    assert place(program + CHOICES.replace('== "DEBUG"', 'in ("train", "debug")'), "x") == "either"


@pytest.mark.parametrize(
    "given",
    [
        "choices=names",
        "choices=['train', name]",
        "choices=['train'], default=name",
        "choices=['a'], nargs='?', const='DEBUG'",
        "",
    ],
)
def test_choices_that_are_not_all_known_exclude_nothing(place, given):
    program = PARSER.format(argument=f"parser.add_argument('--mode', required=True, {given})")

    assert place(f"from names import name, names\n{program}{CHOICES}", "x") == "either"


@pytest.mark.parametrize("given", ["type=torch.device, nargs='+'", "nargs='*', default=[torch.device('cuda')]"])
def test_an_option_with_several_devices_is_a_list_of_them(analyse, given):
    text = f"""
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--devices", {given})
        args = parser.parse_args()
        torch.ones(3) + torch.ones(3).to(args.devices[0])
        """

    assert len(analyse(text).mismatches) == 1
