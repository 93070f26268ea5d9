/**
 * Keeps the state of a page in its address, so that people can share it, reload it and go back to it. Changes the entry of the browser's
 * history directly: with SvelteKit's own function, going back would open the entry's former address, and the change takes effect later.
 *
 * @param value empty: removed from the address
 */
export function keepInUrl(name: string, value: string): void {
  keepAllInUrl({ [name]: value });
}

/** Several at once. */
export function keepAllInUrl(values: Readonly<Record<string, string>>): void {
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history.replaceState(history.state, '', url);
}
