/** Ends the evaluation of a module graph that imports it first. */
throw new Error('this module is imported to throw: what imports it is compiled, not run');
