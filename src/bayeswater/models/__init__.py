"""The public faces: scikit-learn classifiers that walk the road from data to decision."""
