"""Chips, links, models and measurements, each number with its provenance.

``chip("h100_sxm").bf16`` is a float in base units; ``chip("h100_sxm").spec("bf16")`` also knows the value as
printed, its basis and its source. The data are TOML files here; ``load(path)`` adds a file of your own,
and so does the environment variable GPUSCALE_DATA (paths separated as in PATH). All is read at first use.
``model("path/to/config.json")`` reads a configuration of Hugging Face.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    registry="UnknownPart capability chip chips link links load measured model models part parts table",
    engine_settings="serving_settings serving_symptoms setting_sources",
    entry="Part",
    hugging_face="is_file",
    measured_serving=(
        "ServingRow serving_columns serving_formats serving_metrics serving_regimes serving_row serving_rows"
    ),
    measured_table="Column MeasuredTable",
    number="Spec",
    reading="SpecError",
)
