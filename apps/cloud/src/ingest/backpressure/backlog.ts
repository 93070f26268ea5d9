/**
 * Bytes of uploads that a stage behind the log has not reached yet, by organization. Only uploads since this start are known.
 *
 * An upload is reserved before its append, then placed at its position or cancelled; it counts until the stage has passed the position.
 */

export interface Backlog {
  readonly bytes: number;
  reserve(organizationId: string, bytes: number): void;
  cancel(organizationId: string, bytes: number): void;
  /** What was reserved is at this position of the log. */
  place(organizationId: string, bytes: number, position: number): void;
  /** The stage has everything up to this position. */
  passed(position: number): void;
  /**
   * Whether an organization would exceed its share with so many bytes more. Shares are max-min fair: those with little have all of it,
   * the others have equal parts of the rest.
   *
   * @param bytes to be shared
   */
  exceedsShare(organizationId: string, more: number, bytes: number): boolean;
}

/** Neighbours in the log that are dropped together, so that there are few however small uploads are. */
interface Run {
  last: number;
  bytes: number;
  readonly byOrganization: Map<string, number>;
}

/** Where there is less than the bytes to be shared, this much of it is, so that someone exceeds their share. */
const shareOfAll = 0.75;

/** @param runBytes bytes are dropped in steps of about so many */
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
      // The share is where the sum over all of min(share, theirs) is what there is to share.
      let sum = own;
      for (const [other, theirs] of byOrganization) if (other !== organizationId) sum += Math.min(own, theirs);
      return sum >= shared;
    },
  };
}
