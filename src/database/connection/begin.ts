// How transactions of ours begin. Each names its isolation level: under a role or a database whose default
// is serializable, a fetch that meets another would end with 40001, and free the jobs that it holds.

export const BEGIN = "begin isolation level read committed";
export const BEGIN_READ_ONLY = `${BEGIN} read only`;
