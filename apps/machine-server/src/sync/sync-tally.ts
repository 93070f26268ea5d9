/** Counts the data that sync has sent since the start, per resource. */
import type { Outcome } from './outcome.ts';

export interface ResourceTally {
  uploadedFiles: number;
  uploadedReadings: number;
  failedAttempts: number;
  /** The last failure; empty after a success. */
  lastError: string;
}

/** More resources than any machine has: names come from files. */
const maxResources = 10_000;

export class SyncTally {
  uploadedFiles = 0;
  uploadedReadings = 0;
  failedAttempts = 0;
  setAsideFiles = 0;
  /** The last failure of any file; empty after a success. */
  lastError = '';
  readonly #byResource = new Map<string, ResourceTally>();

  /** By `<api>/<name>`. */
  get resources(): ReadonlyMap<string, ResourceTally> {
    return this.#byResource;
  }

  /** @param resource `<api>/<name>`; undefined: an arbitrary file, or one whose header cannot be read */
  attempted(resource: string | undefined, outcome: Outcome): void {
    for (const tally of [this, this.#of(resource)]) {
      if (tally === undefined) continue;
      if (outcome.kind === 'accepted') {
        tally.uploadedFiles++;
        tally.uploadedReadings += outcome.readings;
        tally.lastError = '';
      } else if (outcome.kind === 'later') {
        tally.failedAttempts++;
        tally.lastError = `${outcome.code}: ${outcome.message}`;
      } else if (outcome.kind === 'aside') {
        tally.failedAttempts++;
        tally.lastError = outcome.reason;
      }
    }
  }

  #of(resource: string | undefined): ResourceTally | undefined {
    if (resource === undefined) return undefined;
    const known = this.#byResource.get(resource);
    if (known !== undefined || this.#byResource.size >= maxResources) return known;
    const fresh = { uploadedFiles: 0, uploadedReadings: 0, failedAttempts: 0, lastError: '' };
    this.#byResource.set(resource, fresh);
    return fresh;
  }
}
