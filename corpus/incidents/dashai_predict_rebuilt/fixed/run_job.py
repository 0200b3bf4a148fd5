import torch

from back.vit_model import PatchImageClassifier


def model_job(run_path):
    images = torch.rand(24, 3, 8, 8)
    labels = torch.randint(3, (24,))
    classifier = PatchImageClassifier(epochs=2, num_classes=3, device="gpu")
    classifier.fit(images, labels)
    classifier.save(run_path)


def predict_job(run_path):
    trained_model = PatchImageClassifier.load(run_path)
    y_pred = trained_model.predict(torch.rand(5, 3, 8, 8))
    print([round(max(probs), 3) for probs in y_pred])


if __name__ == "__main__":
    torch.manual_seed(679)
    model_job("run.pt")
    predict_job("run.pt")
