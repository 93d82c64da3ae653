"""The scikit-learn estimators: CRF, CRFCV and the regularization path."""
