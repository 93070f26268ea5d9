/**
 * Bytes of uploads that a stage after the log has not reached yet, by organization. Only uploads since this start are counted.
 *
 * An upload is reserved before its append, then placed at its position or cancelled. It counts until the stage has passed the position.
 */

export interface Backlog {
  readonly bytes: number;
  reserve(organizationId: string, bytes: number): void;
  cancel(organizationId: string, bytes: number): void;
  /** Places reserved bytes at a position of the log. */
  place(organizationId: string, bytes: number, position: number): void;
  /** Called when the stage has reached this position. */
  passed(position: number): void;
  /**
   * Whether `more` additional bytes would take an organization above its share. Shares are max-min fair: small organizations get all they
   * need, the others equal parts of the rest.
   *
   * @param bytes to be shared
   */
  exceedsShare(organizationId: string, more: number, bytes: number): boolean;
}

/** Adjacent uploads in the log that leave the backlog together, so that there are few runs however small uploads are. */
interface Run {
  last: number;
  bytes: number;
  readonly byOrganization: Map<string, number>;
}

/**
 * If the backlog is smaller than the bytes to share, only this fraction of the backlog is shared, so that some organization exceeds its
 * share.
 */
const shareOfAll = 0.75;

/** @param runBytes bytes leave the backlog in steps of about this size */
export function createBacklog(runBytes: number): Backlog {
  const byOrganization = new Map<string, number>();
  let runs: Run[] = [];
  let all = 0;
  let at = 0;

  const add = (to: Map<string, number>, organizationId: string, bytes: number): void => {
    const sum = (to.get(organizationId) ?? 0) + bytes;
    if (sum > 0) to.set(organizationId, sum);
    else to.delete(organizationId);
  };
  const count = (organizationId: string, bytes: number): void => {
    add(byOrganization, organizationId, bytes);
    all += bytes;
  };

  return {
    get bytes() {
      return all;
    },
    reserve: count,
    cancel: (organizationId, bytes) => count(organizationId, -bytes),
    place(organizationId, bytes, position) {
      if (position <= at) return count(organizationId, -bytes);
      let run = runs.at(-1);
      if (run === undefined || run.bytes >= runBytes) {
        run = { last: position, bytes: 0, byOrganization: new Map() };
        runs.push(run);
      }
      run.last = Math.max(run.last, position);
      run.bytes += bytes;
      add(run.byOrganization, organizationId, bytes);
    },
    passed(position) {
      if (position <= at) return;
      at = position;
      const gone = runs.filter(({ last }) => last <= position);
      if (gone.length === 0) return;
      runs = runs.filter(({ last }) => last > position);
      for (const run of gone) for (const [organizationId, bytes] of run.byOrganization) count(organizationId, -bytes);
    },
    exceedsShare(organizationId, more, bytes) {
      const own = (byOrganization.get(organizationId) ?? 0) + more;
      const shared = Math.min(bytes, shareOfAll * (all + more));
      // The share is the value for which the sum of min(share, bytes) over all organizations equals the bytes to share.
      let sum = own;
      for (const [other, theirs] of byOrganization) if (other !== organizationId) sum += Math.min(own, theirs);
      return sum >= shared;
    },
  };
}
