/**
 * A function for what only measures, logs or reports: it never throws, so it cannot end the process from a timer or an event. What can fail
 * there usually passes, like a lack of file descriptors, with which `memoryUsage()` throws.
 *
 * @param failed gets the first failure in a row; default: it is ignored
 */
export function harmless<Args extends readonly unknown[]>(
  run: (...args: Args) => void,
  failed: (caught: unknown) => void = () => {},
): (...args: Args) => void {
  let isFailing = false;
  return (...args) => {
    try {
      run(...args);
      isFailing = false;
    } catch (caught) {
      if (!isFailing) failed(caught);
      isFailing = true;
    }
  };
}
