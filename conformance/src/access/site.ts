/** The tools of the world's builders. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Client, Link } from '@platform/rpc/client';
import type { CloudProcess } from '../start-cloud.ts';
import type { Canaries } from './canaries.ts';
import type { Caller, Place, Rules } from './rules.ts';

export interface Site {
  readonly cloud: CloudProcess;
  /** The owner of everything. */
  readonly admin: Link;
  /** Authenticated as `admin`. */
  readonly app: Client<typeof AppService>;
  readonly canaries: Canaries;
  readonly rules: Rules;
  place(label: string): Place;
  /** Whether a caller has the role on the place with this label, or is that part. */
  holds(role: 'owner' | 'operator', of: string): (caller: Caller) => boolean;
}
