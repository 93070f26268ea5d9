/** Ends the evaluation of a module graph whose first import it is. */
throw new Error('this module is imported to throw: what imports it is compiled, not run');
