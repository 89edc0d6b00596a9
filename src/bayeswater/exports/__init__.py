"""Fitted models as SQL, ONNX, C, JavaScript, a page or plain Python."""
