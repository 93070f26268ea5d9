/** How many kinds are sent at the same time. */
const atOnce = 24;

/** Runs for the kinds from 0 on. @returns what was wrong, with the kind and its name */
export async function eachKind(
  count: number,
  nameOf: (kind: number) => string,
  run: (kind: number) => Promise<string>,
): Promise<string[]> {
  const faults: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let kind = next++; kind < count; kind = next++) {
      const fault = await run(kind).catch(String);
      if (fault !== '') faults.push(`kind ${kind}, ${nameOf(kind)}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return faults;
}
