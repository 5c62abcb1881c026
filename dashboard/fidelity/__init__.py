"""How true the core is to the real systems: `results.json` is what the conformance command counted (`make fidelity`)."""
