"""Rules for ``torch.load`` (DEV3xx).

- DEV301 load-without-map-location: ``torch.load`` without ``map_location``.
- DEV302 foreign-map-location: ``map_location`` with an unsuitable device.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules``, ``fixes`` and rules of this folder.
"""
