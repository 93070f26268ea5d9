/** Ends the process of a test whose disk fails although nothing in it may. */
export function throwUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
