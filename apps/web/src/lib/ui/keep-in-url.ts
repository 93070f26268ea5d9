import { replaceState } from '$app/navigation';
import { page } from '$app/state';

/** Keeps what a page shows in its address, so that it can be shared and reloaded. @param value empty: the address does not name it */
export function keepInUrl(name: string, value: string): void {
  keepAllInUrl({ [name]: value });
}

/** Several at once: the address changes a little later, so that calls after each other would forget each other's change. */
export function keepAllInUrl(values: Readonly<Record<string, string>>): void {
  const url = new URL(page.url.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  void replaceState(url, {});
}
