import torch

from mgcache import DiskCache
from modules.dataLoader.BaseDataLoader import BaseDataLoader


class DiffusionDataLoader(BaseDataLoader):
    def __init__(self, train_device, temp_device, config, model, is_validation=False):
        super().__init__(train_device, temp_device)
        generator = torch.Generator().manual_seed(100 + is_validation)
        count = 1 if is_validation else config.batches
        self.items = [
            {
                "image": torch.randn(config.batch_size, 12, generator=generator),
                "tokens": torch.randint(0, 20, (config.batch_size, 5), generator=generator),
            }
            for _ in range(count)
        ]
        self.__ds = self.create_dataset(config, model)

    def _cache_modules(self, config, model):
        def before_cache_image_fun():
            model.to(self.temp_device)
            model.vae_to(self.train_device)
            model.eval()

        def cache_image(item):
            with torch.no_grad():
                latent = model.vae(item["image"].to(self.train_device))
            return {"latent": latent, "tokens": item["tokens"]}

        return DiskCache(self.items, cache_image, before_cache_image_fun)

    def create_dataset(self, config, model):
        return self._cache_modules(config, model)

    def get_data_set(self):
        return self.__ds
