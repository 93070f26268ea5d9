/** A single-page application: nothing is rendered on a server. */
export const ssr = false;
