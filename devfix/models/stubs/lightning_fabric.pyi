"""Another name of the package."""

from lightning import Fabric as Fabric
