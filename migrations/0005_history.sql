-- What is settled is pruned by age.
create index broadcasts_by_time on broadcasts (accepted_at) where not scheduled;
