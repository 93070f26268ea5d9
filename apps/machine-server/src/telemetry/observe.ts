/** How features say what they do to whoever looks (`-output-telemetry`). Without it there is no observer, and nothing is spent. */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Ends the piece of work. @param caught what it failed with; absent: it succeeded */
export type End = (caught?: { readonly error: unknown }) => void;

/** Called when a piece of work begins. @param name such as `resource.build` */
export type Observe = (name: string, attributes: Attributes) => End;

/** Observes one piece of work, if somebody looks; otherwise it runs as it is. */
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
