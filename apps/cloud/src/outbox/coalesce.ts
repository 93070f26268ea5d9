/**
 * Serves requests that arrive during a run together in the next run: under load, one transaction or query serves many; without load, each
 * begins at once.
 *
 *     const read = coalesce(async (ids: readonly string[]) => …);
 *     const rows = await read(id);
 */
export function coalesce<Asked, Answer>(
  work: (all: readonly Asked[]) => Promise<Answer>,
  most = 200,
): (asked: Asked) => Promise<Answer> {
  let waiting: { readonly asked: Asked; readonly answered: PromiseWithResolvers<Answer> }[] = [];
  let isWorking = false;

  const run = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    try {
      while (waiting.length > 0) {
        const some = waiting.slice(0, most);
        waiting = waiting.slice(most);
        try {
          const answer = await work(some.map(({ asked }) => asked));
          for (const { answered } of some) answered.resolve(answer);
        } catch (caught) {
          for (const { answered } of some) answered.reject(caught);
        }
      }
    } finally {
      isWorking = false;
    }
  };

  return (asked) => {
    const answered = Promise.withResolvers<Answer>();
    waiting.push({ asked, answered });
    void run();
    return answered.promise;
  };
}
