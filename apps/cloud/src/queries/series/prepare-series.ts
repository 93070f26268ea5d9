/** Makes the lists of series of large organizations after a start, so that the first person who looks at one does not wait for it. */
import { errorText, inBackground, type Log } from '@platform/base';
import { mostLists, type SeriesIndex } from './series-index.ts';

export interface FleetSize {
  readonly organizationId: string;
  readonly machines: number;
}

export interface PrepareSeriesDeps {
  readonly index: Pick<SeriesIndex, 'prepare'>;
  readonly fleetSizes: () => readonly FleetSize[];
  readonly log: Log;
}

/** Lists of smaller organizations are made while somebody waits for them, in a fraction of a second. */
export const fewestMachines = 100;

/** One list at a time, those of the organizations with the most machines first, at most as many as are kept. */
export function startPreparing({ index, fleetSizes, log }: PrepareSeriesDeps): AsyncDisposable {
  const large = fleetSizes()
    .filter(({ machines }) => machines >= fewestMachines)
    .toSorted((a, b) => b.machines - a.machines)
    .slice(0, mostLists);
  return inBackground(async (signal) => {
    for (const { organizationId } of large) {
      if (signal.aborted) return;
      await index.prepare(organizationId).catch((caught: unknown) => {
        if (!signal.aborted)
          log.warn('the list of series could not be made in advance; it is made when somebody asks for it', {
            organizationId,
            error: errorText(caught),
          });
      });
    }
  });
}
