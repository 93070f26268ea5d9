/** Sets up the demo when the cloud starts: creates it if there is none, and points its trigger to the address of this start. */
import { errorText, type Log } from '@platform/base';
import type { AccountTree } from '../accounts/tree.ts';
import { type DemoDeps, type DemoFile, moveDemoTrigger, prepareDemo, readDemo } from './prepare-demo.ts';

export interface StartedDemo {
  /** Undefined if no location can hold a machine: the locations of the first start may have been deleted. */
  readonly demo?: DemoFile | undefined;
  /** Why there is no demo in this run; the cloud does not need it. */
  readonly problem?: string;
}

/** Never throws. */
export async function startDemo(
  deps: DemoDeps & { readonly tree: AccountTree; readonly log: Log },
  organizationId: string | undefined,
  baseUrl: string,
): Promise<StartedDemo> {
  try {
    const demo = readDemo(deps.file) ?? (await firstDemo());
    if (demo !== undefined) await moveDemoTrigger(deps, demo.partId, baseUrl);
    return { demo };
  } catch (caught) {
    const problem = errorText(caught);
    deps.log.error('the demo is not running, everything else is', { error: problem });
    return { problem };
  }

  async function firstDemo(): Promise<DemoFile | undefined> {
    const [location] = organizationId === undefined ? [] : deps.tree.locationsOf(organizationId);
    if (location === undefined) return undefined;
    return prepareDemo(deps, { organizationId: location.organization_id, locationId: location.id }, baseUrl);
  }
}
