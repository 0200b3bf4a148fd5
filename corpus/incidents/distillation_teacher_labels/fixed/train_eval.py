import torch
import torch.nn.functional as F


def loss_fn_kd(outputs, labels, teacher_outputs, T=4.0, alpha=0.9):
    soft = F.kl_div(F.log_softmax(outputs / T, dim=1), F.softmax(teacher_outputs / T, dim=1), reduction='batchmean')
    return soft * alpha * T * T + F.cross_entropy(outputs, labels) * (1. - alpha)


def teacher_train(model, config, train_iter, dev_iter):
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    model.train()
    for epoch in range(config.num_epochs):
        print('Epoch [{}/{}]'.format(epoch + 1, config.num_epochs))
        for i, (images, labels) in enumerate(train_iter):
            images = images.to(config.device)
            labels = labels.to(config.device)
            outputs = model(images)
            model.zero_grad()
            loss = F.cross_entropy(outputs, labels)
            loss.backward()
            optimizer.step()
        dev_acc, dev_loss = teacher_evaluate(model, config, dev_iter)
        print('Val Loss: {0:>5.2}, Val Acc: {1:>6.2%}'.format(dev_loss, dev_acc))


def teacher_evaluate(model, config, data_iter):
    model.eval()
    loss_total, hits, count = 0, 0, 0
    with torch.no_grad():
        for images, labels in data_iter:
            images = images.to(config.device)
            labels = labels.to(config.device)
            outputs = model(images)
            loss = F.cross_entropy(outputs, labels)
            loss_total += loss.item()
            hits += (outputs.argmax(1) == labels).sum().item()
            count += len(labels)
    model.train()
    return hits / count, loss_total / len(data_iter)


def student_train(model, teacher_model, config, train_iter, dev_iter):
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    teacher_model.eval()
    model.train()
    for epoch in range(config.num_epochs):
        for images, labels in train_iter:
            images = images.to(config.device)
            labels = labels.to(config.device)
            with torch.no_grad():
                teacher_outputs = teacher_model(images)
            outputs = model(images)
            model.zero_grad()
            loss = loss_fn_kd(outputs, labels, teacher_outputs)
            loss.backward()
            optimizer.step()
        acc, _ = student_evaluate(model, config, dev_iter)
        print('student acc', acc)


def student_evaluate(model, config, data_iter):
    model.eval()
    hits, total = 0, 0.0
    with torch.no_grad():
        for images, labels in data_iter:
            images, labels = images.to(config.device), labels.to(config.device)
            outputs = model(images)
            total += F.cross_entropy(outputs, labels).item()
            hits += (outputs.argmax(1) == labels).sum().item()
    model.train()
    return hits / len(data_iter.dataset), total
