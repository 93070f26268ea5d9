/** Ends the process of a test in which an unexpected disk failure occurs. */
export function throwUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
