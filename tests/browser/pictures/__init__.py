"""How the product looks: every page in three sizes and both schemes, put beside each other to be looked at.

=====================  ==========================================================================
``__main__``           ``python -m tests.browser.pictures``: which pages, how, and where to
``scenes``             the pages: where each is, and what is done on it first
``material``           what stands on them: large groups, an import, a sweep, a live cluster
``acts``               what a reader does on a page before it is looked at
``keyboard``           a page walked with Tab alone: a sheet of every stop and its focus ring
``lessons``            ``python -m tests.browser.pictures.lessons``: lessons as who takes, gives and writes them sees them
``sharing``            ``python -m tests.browser.pictures.sharing``: what is shared, as its recipients see it
``camera``             sizes, schemes, and one browser for each
=====================  ==========================================================================
"""
