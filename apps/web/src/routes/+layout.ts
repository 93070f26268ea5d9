/** A single page: nothing is rendered on a server. */
export const ssr = false;
