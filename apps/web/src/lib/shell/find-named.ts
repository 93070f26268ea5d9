/** What the palette asks the cloud for by the typed text: triggers, components, dashboards, invoices and deliveries. */
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { type Trigger, TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { clientOf } from '../api/clients.ts';
import { readDashboards } from '../dashboards/stored-dashboards.ts';

export interface Named {
  readonly kind: 'trigger' | 'component' | 'dashboard' | 'invoice' | 'delivery';
  readonly name: string;
  /** Below the pages of the organization. */
  readonly path: string;
}

/** Of one kind. */
const most = 20;
const triggers = clientOf(TriggerService);
const series = clientOf(SeriesService);
const billing = clientOf(BillingService);

/**
 * @param nameOf the name of a machine
 * @returns what was found; kinds that the person may not read, or that could not be asked for, are left out
 */
export async function findNamed(given: {
  readonly organizationId: string;
  readonly text: string;
  readonly nameOf: (machineId: string) => string;
  /** All of the organization, which are asked for once. */
  readonly triggers: Promise<readonly Trigger[]>;
  readonly signal: AbortSignal;
}): Promise<readonly Named[]> {
  const { organizationId, text, nameOf, signal } = given;
  const scope = { case: 'organizationId', value: organizationId } as const;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
  const asked: Promise<readonly Named[]>[] = [
    given.triggers.then((all) =>
      all
        .map(
          ({ name, machineName, partId }): Named => ({
            ...{ kind: 'trigger', name: `${name} on ${machineName}` },
            path: `triggers/edit?${new URLSearchParams({ part: partId, trigger: name })}`,
          }),
        )
        .filter(({ name }) => fits(name)),
    ),
    series.listSeries({ organizationId, search: text, pageSize: most }, { signal }).then((answer) =>
      answer.series.map(
        ({ machineId, componentName, methodName }): Named => ({
          ...{ kind: 'component', name: `${componentName} ${methodName} of ${nameOf(machineId)}` },
          path: `data?${new URLSearchParams({ machine: machineId, component: componentName, method: methodName })}`,
        }),
      ),
    ),
    readDashboards(organizationId, signal).then((all) =>
      all
        .filter(({ name }) => fits(name))
        .map(({ id, name }): Named => ({ kind: 'dashboard', name, path: `dashboards/${encodeURIComponent(id)}` })),
    ),
    billing
      .getInvoicesSummary({ orgId: organizationId }, { signal })
      .then((answer) =>
        answer.invoices
          .filter(({ id }) => fits(`invoice ${id}`))
          .map(({ id }): Named => ({ kind: 'invoice', name: `Invoice ${id}`, path: 'billing' })),
      ),
    triggers.listDeliveries({ scope, text, limit: most }, { signal }).then((answer) =>
      answer.deliveries.map(
        ({ id, triggerName, machineName, target }): Named => ({
          ...{
            kind: 'delivery',
            name: `${triggerName || 'message'} of ${machineName || 'a deleted machine'} to ${target}`,
          },
          path: `deliveries?id=${encodeURIComponent(id)}`,
        }),
      ),
    ),
  ];
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, most) : []));
}
