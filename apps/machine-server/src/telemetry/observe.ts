/** Lets features report their work to an observer (`-output-telemetry`). Without an observer, this costs nothing. */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Ends the piece of work. @param caught its error; absent if it succeeded */
export type End = (caught?: { readonly error: unknown }) => void;

/** Called when a piece of work begins. @param name such as `resource.build` */
export type Observe = (name: string, attributes: Attributes) => End;

/** Observes one piece of work if there is an observer; otherwise just runs it. */
export function observed<T>(
  observe: Observe | undefined,
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  return observe === undefined ? work() : untilDone(observe(name, attributes), work);
}

async function untilDone<T>(end: End, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    end();
    return result;
  } catch (error) {
    end({ error });
    throw error;
  }
}
