/** When data of each captured series of each part last arrived. In memory: after a restart, silence is measured from then on. */
import { getOrInsert } from '@platform/base';
import type { PartFacts, UploadInput } from '../input.ts';
import { seriesName } from '../kinds/machine-facts.ts';

export class Arrivals {
  readonly #byPart = new Map<string, Map<string, number>>();

  arrived(partId: string, { metadata, atMs }: UploadInput): void {
    getOrInsert(this.#byPart, partId, () => new Map<string, number>()).set(seriesName(metadata), atMs);
  }

  clear(): void {
    this.#byPart.clear();
  }

  of(partId: string): PartFacts['arrivedMs'] {
    return (series) => this.#byPart.get(partId)?.get(seriesName(series));
  }
}
