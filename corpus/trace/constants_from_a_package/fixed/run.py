from lab.trainer import Trainer

if __name__ == "__main__":
    Trainer({"space": "minkowski", "width": 24, "steps": 5, "rate": 0.01}).run()
