/** What the palette asks the cloud for: triggers, components, dashboards, invoices and deliveries. */
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { clientOf } from '../api/clients.ts';
import { readDashboards } from '../dashboards/stored-dashboards.ts';
import { listAllTriggers } from '../triggers/list-all.ts';
import type { Named, NamedSources } from './find-named.ts';
import { foundDeliveries } from './found-deliveries.ts';

/** Of a list that the cloud searches. */
const most = 20;
const triggers = clientOf(TriggerService);
const series = clientOf(SeriesService);
const billing = clientOf(BillingService);

export function namedSources(given: {
  readonly organizationId: string;
  /** The name of a machine. */
  readonly nameOf: (machineId: string) => string;
  /** Of the organization: only owners may read its invoices. */
  readonly isOwner: boolean;
  /** Whether the person may read its dashboards. */
  readonly readsWhole: boolean;
  /** Ends the calls for whole lists. */
  readonly whileOpen: AbortSignal;
}): NamedSources {
  const { organizationId, nameOf, whileOpen } = given;
  const scope = { case: 'organizationId', value: organizationId } as const;
  return {
    whole: [
      async () => (await listAllTriggers(organizationId, whileOpen)).map(triggerOf),
      // Who may not read these asks for none of them.
      async () =>
        (given.readsWhole ? await readDashboards(organizationId, whileOpen) : []).map(({ id, name }): Named => {
          return { kind: 'dashboard', name, path: `dashboards/${encodeURIComponent(id)}` };
        }),
      async () => {
        if (!given.isOwner) return [];
        const { invoices } = await billing.getInvoicesSummary({ orgId: organizationId }, { signal: whileOpen });
        return invoices.map(({ id }): Named => ({ kind: 'invoice', name: `Invoice ${id}`, path: 'billing' }));
      },
    ],
    byText: [
      async (text, signal) => {
        const answer = await series.listSeries({ organizationId, search: text, pageSize: most }, { signal });
        return answer.series.map(
          ({ machineId, componentName, methodName }): Named => ({
            ...{ kind: 'component', name: `${componentName} ${methodName} of ${nameOf(machineId)}` },
            path: `data?${new URLSearchParams({ machine: machineId, component: componentName, method: methodName })}`,
          }),
        );
      },
      async (text, signal) => {
        const answer = await triggers.listDeliveries({ scope, text, limit: most }, { signal });
        return foundDeliveries(answer.deliveries);
      },
    ],
  };
}

function triggerOf(one: { readonly name: string; readonly machineName: string; readonly partId: string }): Named {
  const { name, machineName, partId } = one;
  return {
    ...{ kind: 'trigger', name: `${name} on ${machineName}` },
    path: `triggers/edit?${new URLSearchParams({ part: partId, trigger: name })}`,
  };
}
