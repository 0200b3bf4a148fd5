"""Modules of a configuration file: the move stands where the configuration and the device are in variables."""

from __future__ import annotations

from repair_fixtures import IMPORTS

CONFIGURATION = """
student: !new:torch.nn.Linear
  in_features: 3
  out_features: 3
teacher: !new:torch.nn.Linear
  in_features: 3
  out_features: 3
judge: !new:torch.nn.Linear
  in_features: 3
  out_features: 3
modules:
  student: !ref <student>
"""

LISTING = """
  import sys
  import speechbrain as sb
  from hyperpyyaml import load_hyperpyyaml

  class Distiller(sb.Brain):
      def compute_forward(self, batch, stage):
          x, _ = batch.to(self.device).sig
          return self.modules.student(x) - self.hparams.teacher(x), self.hparams.judge(x)

      def compute_objectives(self, predictions, batch, stage):
          return predictions[0].pow(2).mean()

  if __name__ == "__main__":
      hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
      with open(hparams_file) as stream:
          hparams = load_hyperpyyaml(stream, overrides)
      brain = Distiller(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
+     hparams["judge"].to(brain.device)
+     hparams["teacher"].to(brain.device)
      brain.fit(range(3), hparams["data"])
"""


def test_each_module_is_moved_behind_the_object_with_the_device(tmp_path, before_and_after, repair):
    (tmp_path / "train.yaml").write_text(CONFIGURATION)
    before, after = before_and_after(LISTING)
    assert before.startswith(IMPORTS)

    assert repair("DEV204", before) == after


def test_without_the_file_nothing_is_known(before_and_after, repair):
    before, _ = before_and_after(LISTING)

    assert repair("DEV204", before) == before
