"""What is attacked: anything that scores texts. Victims of every kind share one interface, `Victim`."""
