"""The template languages of CRF++, Wapiti and CRFsuite."""
