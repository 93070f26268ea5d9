/** The demo at a start of the cloud: made where there is none, its trigger moved to the address of this start. */
import type { Log } from '@platform/base';
import type { AccountTree } from '../accounts/tree.ts';
import { type DemoDeps, type DemoFile, moveDemoTrigger, prepareDemo, readDemo } from './prepare-demo.ts';

/** Undefined where nobody has a place for a machine: what the first start made may be deleted by now. */
export async function startDemo(
  deps: DemoDeps & { readonly tree: AccountTree; readonly log: Log },
  organizationId: string | undefined,
  baseUrl: string,
): Promise<DemoFile | undefined> {
  const demo = readDemo(deps.file) ?? (await firstDemo());
  if (demo !== undefined) await moveDemoTrigger(deps, demo.partId, baseUrl);
  return demo;

  async function firstDemo(): Promise<DemoFile | undefined> {
    const [location] = organizationId === undefined ? [] : deps.tree.locationsOf(organizationId);
    if (location === undefined) return undefined;
    return prepareDemo(deps, { organizationId: location.organization_id, locationId: location.id }, baseUrl);
  }
}
