"""Pages and API of sweeps over assignors."""
