/**
 * Given and family names by culture, in their native spelling. `native=latin` gives the spelling of handles and
 * mailboxes when removing accents is not enough.
 */

export interface CultureWords {
  male: string;
  female: string;
  family: string;
}

export const cultures: Readonly<Record<string, CultureWords>> = {
  english: {
    male: `
      James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel
      Matthew Anthony Mark Steven Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald
      Timothy Jason Jeffrey Ryan Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott
      Brandon Benjamin Samuel Gregory Frank Alexander Patrick Raymond Jack Dennis Oliver Harry
      Simon Graham Nigel Stuart`,
    female: `
      Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty
      Margaret Sandra Ashley Kimberly Emily Donna Michelle Carol Amanda Dorothy Melissa Deborah
      Stephanie Rebecca Sharon Laura Cynthia Kathleen Amy Angela Shirley Anna Brenda Pamela Emma
      Nicole Helen Samantha Katherine Christine Rachel Carolyn Janet Olivia Victoria Charlotte
      Zoë Chloë Fiona`,
    family: `
      Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Thomas Moore Martin
      Jackson Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott
      Hill Green Adams Baker Nelson Hall Campbell Mitchell Carter Roberts Turner Phillips Evans
      Parker Edwards Collins Stewart Morris Rogers Reed Cook Morgan Bell Cooper Bailey
      Richardson Cox Howard Ward Brooks Watson Bennett Gray Hughes Price Myers Long Foster
      Sanders Ross Powell Sullivan Russell Fisher Henderson Graham Reynolds Hamilton Griffin
      Wallace West Cole Hayes Gibson Ford Marshall Harrison Palmer Mills Nichols Grant Knight
      Ferguson Stone Hawkins Dunn Perkins Hudson Spencer Gardner Payne Pierce Berry Matthews
      Wagner Willis Ray Watkins Carroll Duncan Hart Bradley Lane Andrews Harper Fox Riley
      Armstrong Weaver Greene Lawrence Elliott Chapman Carpenter Holmes Hunt Barker Walsh
      O'Neill=oneill McDonald McKenzie Whitaker Ashworth Pemberton Holloway Thistlewood
      Barrowclough`,
  },
  irish: {
    male: `
      Conor Seán Patrick Liam Cian Darragh Oisín Eoin Declan Brendan Ciarán Niall Rory Fionn
      Diarmuid Cathal Aidan Kieran Colm Eamon`,
    female: `
      Aoife Niamh Siobhán Ciara Orla Sinéad Róisín Saoirse Gráinne Caoimhe Bríd Deirdre Maeve
      Nuala Áine Clodagh Eimear Fionnuala Sorcha Órla`,
    family: `
      Murphy Kelly O'Sullivan=osullivan Walsh O'Brien=obrien Byrne Ryan O'Connor=oconnor
      O'Neill=oneill O'Reilly=oreilly Doyle McCarthy Gallagher Doherty Kennedy Lynch Murray
      Quinn McLoughlin Carroll Connolly Daly Nolan Brennan Dunne Burke Collins Clarke Fitzgerald
      Hughes Farrell Keane Ó|Súilleabháin=osuilleabhain Hayes Sheehan Flanagan Kavanagh Mulcahy
      Tierney Hennessy`,
  },
  german: {
    male: `
      Alexander Andreas Bernd Christian Daniel Dieter Felix Florian Frank Georg Hans Heinz
      Holger Jan Jens Jonas Jörg=joerg Jürgen=juergen Karl Klaus Lukas Manfred Markus Martin
      Matthias Maximilian Michael Moritz Niklas Oliver Paul Peter Rainer Ralf Sebastian Stefan
      Sven Thomas Tobias Uwe Volker Werner Wolfgang Günther=guenther Götz=goetz`,
    female: `
      Andrea Angelika Anja Anna Annette Astrid Barbara Birgit Britta Christine Claudia Daniela
      Elke Eva Franziska Gabriele Heike Ines Ingrid Jana Johanna Julia Karin Katharina Katrin
      Kerstin Laura Lena Lisa Margit Marie Martina Monika Nadine Nina Petra Renate Sabine Sandra
      Sigrid Silke Stefanie Susanne Tanja Ulrike Ursula Käthe=kaethe Jördis=joerdis`,
    family: `
      Müller=mueller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann
      Schäfer=schaefer Koch Bauer Richter Klein Wolf Schröder=schroeder Neumann Schwarz
      Zimmermann Braun Krüger=krueger Hofmann Hartmann Lange Schmitt Werner Krause Meier Lehmann
      Schmid Schulze Maier Köhler=koehler Herrmann König=koenig Walter Mayer Huber Kaiser Fuchs
      Peters Lang Scholz Möller=moeller Weiß=weiss Jung Hahn Schubert Vogel Friedrich Keller
      Günther=guenther Frank Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster
      Simon Ludwig Böhm=boehm Winter Kraus Schumacher Krämer=kraemer Vogt Stein Jäger=jaeger
      Otto Sommer Groß=gross Seidel Heinrich Brandt Haas Schreiber Graf Dietrich Ziegler Kuhn
      Pohl Engel Horn Busch Bergmann Voigt Sauer Arnold Pfeiffer Lindner
      Straßburger=strassburger`,
  },
  french: {
    male: `
      Alain Alexandre André Antoine Arnaud Benoît Bernard Bruno Cédric Christophe Claude Clément
      Damien David Denis Didier Éric Fabien Franck François Frédéric Gérard Gilles Guillaume
      Henri Hugo Jacques Jérôme Julien Laurent Louis Luc Marcel Mathieu Maxime Michel Nicolas
      Olivier Pascal Philippe Pierre Raphaël Rémi René Sébastien Stéphane Thierry Vincent Xavier
      Yves Jean-Luc Jean-Pierre`,
    female: `
      Adèle Agnès Amélie Anne Aurélie Béatrice Brigitte Camille Caroline Catherine Cécile Céline
      Chantal Charlotte Chloé Christelle Claire Corinne Delphine Dominique Élise Élodie Émilie
      Estelle Eugénie Fabienne Florence Françoise Geneviève Hélène Inès Isabelle Jeanne Joëlle
      Juliette Karine Laëtitia Laure Léa Lucie Manon Margaux Marie Martine Mathilde Maëlle
      Nathalie Noémie Odile Pauline Sophie Sylvie Valérie Véronique Virginie Zoé Anne-Marie
      Marie-Claude`,
    family: `
      Martin Bernard Dubois Thomas Robert Richard Petit Durand Leroy Moreau Simon Laurent
      Lefebvre Michel Garcia David Bertrand Roux Vincent Fournier Morel Girard André Lefèvre
      Mercier Dupont Lambert Bonnet François Martinez Legrand Garnier Faure Rousseau Blanc
      Guérin Muller Henry Roussel Nicolas Perrin Morin Mathieu Clément Gauthier Dumont Lopez
      Fontaine Chevalier Robin Masson Sanchez Gérard Nguyen Boyer Denis Lemaire Duval Joly
      Gautier Roger Roche Roy Noël Meyer Lucas Meunier Jean Perez Marchand Dufour Blanchard
      Marie Barbier Brun Dumas Brunet Schmitt Leroux Colas Fernandez Renard Arnaud Rolland Caron
      Aubert Giraud Leclerc Vidal Bourgeois Renaud Lemoine Picard Gaillard Philippe Leclercq
      Lacroix Fabre Dupuis Olivier Hubert Lœuillet=loeuillet Bénard Çelik Crépin Hérault`,
  },
  dutch: {
    male: `
      Jan Pieter Willem Kees Henk Bart Daan Sem Lars Thijs Ruben Jeroen Maarten Joost Sander
      Wouter Bas Niels Koen Gijs Hendrik Johannes Cornelis Tim Stijn Rik Bram Floris Joris
      Tijmen`,
    female: `
      Anna Emma Sophie Julia Lotte Sanne Fleur Lieke Femke Marieke Anouk Iris Eva Maaike Ingrid
      Wilma Annelies Hanneke Saskia Esther Margriet Mieke Marloes Roos Tess Noor Zoë Renée Ilse
      Jolanda`,
    family: `
      de|Jong=dejong Jansen de|Vries=devries van|den|Berg=vandenberg Bakker van|Dijk=vandijk
      Visser Janssen Smit Meijer de|Boer=deboer Mulder de|Groot=degroot Bos Vos Peters Hendriks
      van|Leeuwen=vanleeuwen Dekker Brouwer de|Wit=dewit Dijkstra Smits de|Graaf=degraaf
      van|der|Meer=vandermeer Kok Jacobs Vermeulen Schouten van|Vliet=vanvliet Hoekstra Maas
      Verhoeven Koster Prins Blom Huisman Peeters Kuijpers Veenstra Postma Willems Claes
      Goossens Wouters Aerts Mertens Maes Coppens Wijnands`,
  },
  spanish: {
    male: `
      Antonio José Manuel Francisco Juan David Javier Daniel Carlos Jesús Alejandro Miguel
      Rafael Pablo Pedro Ángel Sergio Fernando Luis Jorge Alberto Álvaro Diego Adrián Raúl Iván
      Enrique Rubén Ramón Andrés Vicente Óscar Joaquín Santiago Víctor Eduardo Mario Roberto
      Jaime Ignacio Hugo Martín Gonzalo Ricardo Emilio Íñigo`,
    female: `
      María Carmen Ana Isabel Laura Cristina Marta Lucía Dolores Francisca Josefa Antonia Paula
      Elena Pilar Raquel Sara Rosa Beatriz Teresa Julia Nuria Silvia Patricia Irene Montserrat
      Andrea Rocío Mónica Alba Ángela Sonia Sandra Marina Yolanda Inés Concepción Begoña Valeria
      Daniela Sofía Gabriela Ximena Guadalupe Verónica`,
    family: `
      García González Rodríguez Fernández López Martínez Sánchez Pérez Gómez Martín Jiménez Ruiz
      Hernández Díaz Moreno Muñoz Álvarez Romero Alonso Gutiérrez Navarro Torres Domínguez
      Vázquez Ramos Gil Ramírez Serrano Blanco Molina Morales Suárez Ortega Delgado Castro Ortiz
      Rubio Marín Sanz Núñez Iglesias Medina Garrido Cortés Castillo Santos Lozano Guerrero Cano
      Prieto Méndez Cruz Calvo Gallego Vidal León Márquez Herrera Peña Flores Cabrera Campos
      Vega Fuentes Carrasco Diez Reyes Caballero Nieto Aguilar Pascual Santana Ibáñez Peñalver
      Echeverría Zúñiga`,
  },
  portuguese: {
    male: `
      João José António Manuel Pedro Paulo Luís Carlos Miguel Tiago Rui Nuno André Ricardo Bruno
      Hugo Gonçalo Diogo Rafael Lucas Gabriel Mateus Felipe Gustavo Thiago Rodrigo Marcelo
      Sérgio Vítor Eduardo Fábio Leonardo Caio Otávio`,
    female: `
      Maria Ana Joana Mariana Inês Beatriz Catarina Sofia Rita Sara Carla Patrícia Sandra
      Cláudia Filipa Helena Luísa Teresa Juliana Fernanda Camila Letícia Larissa Amanda Bruna
      Gabriela Vitória Tânia Mônica Conceição Lívia Débora Márcia Aline`,
    family: `
      Silva Santos Ferreira Pereira Oliveira Costa Rodrigues Martins Jesus Sousa Fernandes
      Gonçalves Gomes Lopes Marques Alves Almeida Ribeiro Pinto Carvalho Teixeira Moreira
      Correia Mendes Nunes Soares Vieira Monteiro Cardoso Rocha Raposo Neves Coelho Cruz Cunha
      Pires Ramos Reis Simões Antunes Matos Fonseca Machado Araújo Barbosa Tavares Lourenço
      Castro Azevedo Barros Nascimento Lima Moura Freitas Magalhães Guimarães Peixoto Brandão
      Leitão Assunção`,
  },
  italian: {
    male: `
      Marco Andrea Giuseppe Antonio Giovanni Luca Francesco Alessandro Matteo Lorenzo Davide
      Stefano Paolo Roberto Riccardo Simone Federico Gabriele Nicolò Michele Salvatore Vincenzo
      Emanuele Fabio Claudio Enrico Filippo Daniele Pietro Tommaso Giacomo Massimo Maurizio
      Sergio Mosè`,
    female: `
      Giulia Francesca Chiara Sara Martina Anna Maria Valentina Elisa Federica Alessandra Silvia
      Laura Elena Giorgia Paola Ilaria Roberta Claudia Serena Monica Barbara Daniela Simona
      Cristina Beatrice Alice Sofia Aurora Noemi Caterina Lucia Teresa Angela Niccolò Desirée`,
    family: `
      Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti
      De|Luca=deluca Mancini Costa Giordano Rizzo Lombardi Moretti Barbieri Fontana Santoro
      Mariani Rinaldi Caruso Ferrara Galli Martini Leone Longo Gentile Martinelli Vitale
      Lombardo Serra Coppola De|Santis=desantis D'Angelo=dangelo Marchetti Parisi Villa Conte
      Ferraro Ferri Fabbri Bianco Marini Grasso Valentini Messina Sala D'Amico=damico Gatti
      Pellegrini Palumbo Sanna Farina Rizzi Monti Cattaneo Morelli Amato Silvestri Mazza Testa
      Grassi Pellegrino Carbone Giuliani Benedetti Barone Rossetti Caputo Montanari Nicolò`,
  },
  nordic: {
    male: `
      Erik Lars Anders Johan Per Karl Nils Mikael Jan Fredrik Henrik Magnus Olof Björn Göran Åke
      Øyvind=oyvind Håkon Kjell Svein Arne Leif Jens Søren=soren Morten Jesper Rasmus Mads
      Kasper Niels Juhani Mikko Antti Jukka Matti Timo Pekka Väinö Gustav Axel Oskar Ólafur`,
    female: `
      Anna Eva Karin Kristina Ingrid Birgitta Elin Maria Sofia Linnéa Åsa Märta Astrid Ida Emma
      Freja Signe Solveig Silje Ragnhild Liv Hanne Mette Kirsten Lene Pernille Søs=sos Bente
      Aino Helmi Päivi Tuula Leena Kaisa Sanna Hilde Tove Maja Ebba Frida`,
    family: `
      Andersson Johansson Karlsson Nilsson Eriksson Larsson Olsson Persson Svensson Gustafsson
      Lindberg Lindström Lundqvist Bergström Söderberg Sjöberg Hansen Johansen Olsen Larsen
      Andersen Pedersen Nilsen Kristiansen Jensen Karlsen Jørgensen=jorgensen Sørensen=sorensen
      Rasmussen Christensen Møller=moller Poulsen Madsen Kjær=kjaer Nørgaard=norgaard
      Østergaard=ostergaard Haugen Hagen Bakken Lie Strand Solberg Korhonen Virtanen Mäkinen
      Nieminen Mäkelä Hämäläinen Laine Heikkinen Koskinen Järvinen Lehtonen Åkesson Öberg
      Ekström Holmgren Wikström Bjørnstad=bjornstad`,
  },
  polish: {
    male: `
      Piotr Krzysztof Andrzej Tomasz Paweł=pawel Jan Michał=michal Marcin Jakub Adam
      Łukasz=lukasz Marek Grzegorz Mateusz Wojciech Mariusz Dariusz Zbigniew Maciej Rafał=rafal
      Robert Kamil Jacek Szymon Dawid Kacper Bartosz Sławomir=slawomir Przemysław=przemyslaw
      Stanisław=stanislaw`,
    female: `
      Anna Katarzyna Maria Małgorzata=malgorzata Agnieszka Barbara Ewa Krystyna Magdalena
      Elżbieta Joanna Aleksandra Zofia Monika Teresa Danuta Natalia Karolina Marta Julia Dorota
      Beata Iwona Justyna Jolanta Paulina Weronika Bożena Grażyna Zuzanna`,
    family: `
      Nowak Kowalski Wiśniewski Wójcik Kowalczyk Kamiński Lewandowski Zieliński Szymański
      Woźniak Dąbrowski Kozłowski=kozlowski Jankowski Mazur Wojciechowski Kwiatkowski Krawczyk
      Kaczmarek Piotrowski Grabowski Zając Pawłowski=pawlowski Michalski Król=krol Wieczorek
      Jabłoński=jablonski Wróbel Nowakowski Majewski Olszewski Stępień Malinowski Jaworski
      Adamczyk Dudek Nowicki Pawlak Górski Witkowski Walczak Sikora Baran Rutkowski Michalak
      Szewczyk Ostrowski Tomaszewski Pietrzak Zalewski Wróblewski=wroblewski`,
  },
  czech: {
    male: `
      Jiří Jan Petr Josef Pavel Martin Tomáš Jaroslav Miroslav Zdeněk František Václav Michal
      Milan Karel Jakub Lukáš David Vladimír Ladislav Ondřej Roman Stanislav Marek Radek Daniel
      Vojtěch Filip Adam Matěj`,
    female: `
      Jana Marie Eva Hana Anna Lenka Kateřina Lucie Věra Alena Petra Veronika Jaroslava Tereza
      Martina Michaela Jitka Helena Ludmila Zdeňka Ivana Monika Eliška Zuzana Markéta Jarmila
      Barbora Jiřina Dagmar Božena`,
    family: `
      Novák Svoboda Novotný Dvořák Černý Procházka Kučera Veselý Horák Němec Marek Pospíšil
      Pokorný Hájek Král Jelínek Růžička Beneš Fiala Sedláček Doležal Zeman Kolář Navrátil
      Čermák Vaněk Urban Blažek Kříž Kovář Kratochvíl Bartoš Vlček Polák Musil Kopecký Šimek
      Konečný Malý Čech Štěpánek Holub Staněk Kadlec Dostál Soukup Šťastný Mareš Moravec Sýkora`,
  },
  turkish: {
    male: `
      Mehmet Mustafa Ahmet Ali Hüseyin Hasan İbrahim=ibrahim İsmail=ismail Osman Yusuf Murat
      Ömer Ramazan Halil Süleyman Emre Burak Kemal Serkan Cem Barış=baris Oğuz Tolga Volkan Onur
      Kaan Efe Çağlar=caglar Ümit Yiğit=yigit`,
    female: `
      Fatma Ayşe Emine Hatice Zeynep Elif Meryem Şerife Zehra Sultan Hanife Merve Özlem Esra
      Büşra Gamze Derya Selin Ebru Sibel Tuğba Gül Pınar=pinar Ceren Defne İpek=ipek Nur
      Aslı=asli Çiğdem=cigdem Yasemin`,
    family: `
      Yılmaz=yilmaz Kaya Demir Çelik Şahin Yıldız=yildiz Yıldırım=yildirim Öztürk Aydın=aydin
      Özdemir Arslan Doğan Kılıç=kilic Aslan Çetin Kara Koç Kurt Özkan Şimşek Polat Korkmaz
      Çakır=cakir Erdoğan Acar Güneş Aktaş Bozkurt Taş Avcı=avci Güler Yalçın=yalcin Tekin
      Sarı=sari Özcan Coşkun Turan Keskin Bulut Ünal Işık=isik Toprak Duman Karaca`,
  },
  greek: {
    male: `
      Γιώργος=giorgos Δημήτρης=dimitris Νίκος=nikos Κώστας=kostas Γιάννης=giannis
      Παναγιώτης=panagiotis Βασίλης=vasilis Χρήστος=christos Αθανάσιος=athanasios
      Μιχάλης=michalis Σπύρος=spyros Αλέξανδρος=alexandros Στέλιος=stelios Ανδρέας=andreas
      Πέτρος=petros Ηλίας=ilias`,
    female: `
      Μαρία=maria Ελένη=eleni Αικατερίνη=aikaterini Βασιλική=vasiliki Σοφία=sofia
      Γεωργία=georgia Αγγελική=angeliki Δήμητρα=dimitra Ιωάννα=ioanna Κωνσταντίνα=konstantina
      Αναστασία=anastasia Χριστίνα=christina Ευαγγελία=evangelia Παρασκευή=paraskevi
      Δέσποινα=despoina Κατερίνα=katerina`,
    family: `
      Παπαδόπουλος=papadopoulos Παπαδάκης=papadakis Ιωάννου=ioannou Γεωργίου=georgiou
      Δημητρίου=dimitriou Νικολάου=nikolaou Βασιλείου=vasileiou Αντωνίου=antoniou
      Κωνσταντίνου=konstantinou Χατζής=chatzis Οικονόμου=oikonomou Αλεξίου=alexiou Μακρής=makris
      Καραγιάννης=karagiannis Παππάς=pappas Σταθόπουλος=stathopoulos Αγγελόπουλος=angelopoulos
      Μιχαηλίδης=michailidis Λάμπρου=lamprou Ζαφειρίου=zafeiriou Κόκκινος=kokkinos
      Μαυρίδης=mavridis Τσακίρης=tsakiris Φωτίου=fotiou`,
  },
  russian: {
    male: `
      Александр=alexander Дмитрий=dmitry Сергей=sergey Андрей=andrey Алексей=alexey Максим=maxim
      Евгений=evgeny Иван=ivan Михаил=mikhail Николай=nikolay Владимир=vladimir Павел=pavel
      Роман=roman Игорь=igor Олег=oleg Константин=konstantin Артём=artem Антон=anton
      Виктор=viktor Юрий=yury`,
    female: `
      Анна=anna Елена=elena Ольга=olga Наталья=natalia Екатерина=ekaterina Татьяна=tatiana
      Ирина=irina Мария=maria Светлана=svetlana Юлия=yulia Анастасия=anastasia Дарья=daria
      Марина=marina Людмила=lyudmila Валентина=valentina Ксения=ksenia Алина=alina Вера=vera
      Полина=polina Надежда=nadezhda`,
    family: `
      Иваненко=ivanenko Смирнов=smirnov Кузнецов=kuznetsov Попов=popov Васильев=vasiliev
      Петров=petrov Соколов=sokolov Михайлов=mikhailov Новиков=novikov Фёдоров=fedorov
      Морозов=morozov Волков=volkov Алексеев=alekseev Лебедев=lebedev Семёнов=semenov
      Егоров=egorov Павлов=pavlov Козлов=kozlov Степанов=stepanov Николаев=nikolaev Орлов=orlov
      Андреев=andreev Макаров=makarov Никитин=nikitin Захаров=zakharov Зайцев=zaitsev
      Соловьёв=soloviev Борисов=borisov Яковлев=yakovlev Григорьев=grigoriev`,
  },
  ukrainian: {
    male: `
      Олександр=oleksandr Сергій=serhii Володимир=volodymyr Андрій=andrii Микола=mykola
      Віктор=viktor Іван=ivan Юрій=yurii Василь=vasyl Олег=oleh Богдан=bohdan Тарас=taras
      Роман=roman Максим=maksym Дмитро=dmytro Ігор=ihor`,
    female: `
      Олена=olena Наталія=nataliia Ірина=iryna Оксана=oksana Тетяна=tetiana Марія=mariia
      Юлія=yuliia Людмила=liudmyla Світлана=svitlana Катерина=kateryna Ганна=hanna
      Вікторія=viktoriia Софія=sofiia Дарина=daryna Леся=lesia Соломія=solomiia`,
    family: `
      Шевченко=shevchenko Коваленко=kovalenko Бондаренко=bondarenko Ткаченко=tkachenko
      Кравченко=kravchenko Олійник=oliinyk Шевчук=shevchuk Коваль=koval Поліщук=polishchuk
      Бондар=bondar Ткачук=tkachuk Мороз=moroz Марченко=marchenko Лисенко=lysenko
      Руденко=rudenko Савченко=savchenko Петренко=petrenko Клименко=klymenko Павленко=pavlenko
      Кравчук=kravchuk Гончаренко=honcharenko Левченко=levchenko Панченко=panchenko
      Мельник=melnyk`,
  },
  arabic: {
    male: `
      Mohammed Ahmed Omar Ali Hassan Khalid Youssef Ibrahim Mahmoud Tariq Karim Samir Nabil
      Rachid Hamza Bilal Faisal Walid Adel Mustafa محمد=mohamed أحمد=ahmad خالد=khaled
      يوسف=yousef عمر=omar سعيد=saeed`,
    female: `
      Fatima Aisha Mariam Layla Nour Salma Yasmine Amina Hanan Samira Rania Dina Huda Khadija
      Zahra Naima Leïla Soraya Nadia Imane فاطمة=fatima مريم=maryam ليلى=layla نور=nour
      سارة=sara هدى=huda`,
    family: `
      Al-Farsi El|Amrani=elamrani Haddad Mansour Khalil Saleh Hassan Aziz Rahman Benali Bouzid
      Cherif Nasser Hakim Qasim Saidi Ziani Tahiri Belkacem Abdallah Sayegh Khoury Darwish
      Farouk Mahdi الحداد=alhaddad المنصور=almansour الخطيب=alkhatib النجار=alnajjar
      السعدي=alsaadi العلي=alali`,
  },
  indian: {
    male: `
      Rahul Amit Rajesh Sanjay Vijay Anil Suresh Ravi Arjun Rohan Vikram Karthik Aditya Manish
      Nikhil Prakash Ashok Deepak Harish Ganesh Sandeep Arun Naveen Gaurav Varun Siddharth Imran
      Farhan Harpreet Gurpreet Ramesh Mohan Kiran Abhishek Pranav`,
    female: `
      Priya Anjali Neha Pooja Sunita Kavita Lakshmi Divya Sneha Meera Anita Rekha Shreya Nisha
      Asha Deepika Swati Ritu Aishwarya Radha Geeta Padma Shalini Vidya Ananya Isha Simran Zoya
      Fatima Manpreet Lata Sushma Kamala Preeti Tanvi`,
    family: `
      Sharma Verma Gupta Patel Singh Kumar Reddy Iyer Nair Rao Mehta Shah Joshi Desai Kulkarni
      Chatterjee Banerjee Mukherjee Das Bose Ghosh Sen Agarwal Jain Kapoor Malhotra Chopra
      Khanna Bhatia Saxena Mishra Pandey Tiwari Yadav Menon Pillai Krishnan Subramanian Naidu
      Choudhary Khan Ahmed Ansari Gill Sandhu Dhillon Kaur Bhatt Trivedi Srinivasan`,
  },
  chinese: {
    male: `
      伟=wei 强=qiang 磊=lei 军=jun 洋=yang 勇=yong 杰=jie 涛=tao 明=ming 超=chao Wei Jun Ming Hao Jian
      Kai Feng Bo Lei Peng Zhiqiang Jianhua Guoqiang Haoran Yichen`,
    female: `
      芳=fang 娜=na 敏=min 静=jing 丽=li 艳=yan 娟=juan 霞=xia 婷=ting 雪=xue Fang Min Jing Li Yan Xia
      Ting Xiu Mei Ling Xiaoyan Meiling Yuting Jiayi Ruoxi`,
    family: `
      Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng
      Liang Xie Song Tang 王=wang 李=li 张=zhang 刘=liu 陈=chen 杨=yang 黄=huang 赵=zhao 吴=wu 周=zhou
      林=lin 何=he Lee Chan Wong Tan Ng Ho Lim`,
  },
  japanese: {
    male: `
      Hiroshi Takashi Kenji Satoshi Kazuo Makoto Akira Daisuke Kenta Yuki Takeshi Haruto Ren
      Sota Ryo 健太=kenta 大輔=daisuke 翔太=shota 誠=makoto 隆=takashi 拓也=takuya 直樹=naoki 浩二=koji`,
    female: `
      Yuko Keiko Akiko Naoko Tomoko Emiko Sakura Yui Hana Aoi Mika Rina Ayumi Misaki Kaori
      陽子=yoko 美咲=misaki さくら=sakura 恵=megumi 由美=yumi 真由美=mayumi 愛=ai 直美=naomi`,
    family: `
      Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada
      Sasaki Matsumoto Inoue Kimura Shimizu Hayashi Saito Mori 佐藤=sato 鈴木=suzuki 高橋=takahashi
      田中=tanaka 渡辺=watanabe 伊藤=ito 山本=yamamoto 中村=nakamura 小林=kobayashi 加藤=kato 吉田=yoshida
      山田=yamada 松本=matsumoto 井上=inoue 木村=kimura 石川=ishikawa 藤田=fujita 岡田=okada`,
  },
  korean: {
    male: `
      민수=minsu 지훈=jihun 성민=seongmin 동현=donghyun 준호=junho 영호=youngho Min-jun Ji-hoon Seung-woo
      Hyun-woo Dong-hyun Sung-min Joon-ho Tae-yang`,
    female: `
      지은=jieun 수진=sujin 민지=minji 영희=younghee 은정=eunjung 혜진=hyejin Seo-yeon Ji-woo Soo-jin Min-ji
      Eun-ji Hye-jin Yoo-na Ha-eun`,
    family: `
      김=kim 이=lee 박=park 최=choi 정=jung 강=kang 조=cho 윤=yoon 장=jang 임=lim Kim Lee Park Choi Jung
      Kang Cho Yoon Jang Lim Han Oh Seo Shin Kwon Hwang Ahn Song Ryu Hong`,
  },
  vietnamese: {
    male: `Minh Hùng Dũng Tuấn Long Hải Nam Quang Khoa Phúc Đức=duc Thành Bảo Huy Kiên`,
    female: `Lan Hương Linh Mai Thảo Hoa Ngọc Trang Hạnh Phương Yến Quỳnh Vy Châu Thu`,
    family: `
      Nguyễn Trần Lê Phạm Huỳnh Phan Vũ Võ Đặng=dang Bùi Đỗ=do Hồ Ngô Dương Lý Đinh=dinh Trịnh
      Mai Đoàn=doan Lương`,
  },
  nigerian: {
    male: `
      Chukwuemeka Oluwaseun Ibrahim Emeka Tunde Chidi Segun Musa Kelechi Obinna Femi Sola Yusuf
      Uche Babatunde Ikenna`,
    female: `
      Ngozi Chioma Funmilayo Aisha Amaka Yetunde Zainab Ifeoma Adaeze Folake Halima Nneka Bisi
      Temitope Hauwa Chiamaka`,
    family: `
      Okafor Adeyemi Okonkwo Balogun Eze Nwosu Adebayo Ibrahim Musa Obi Oyelaran Abubakar Chukwu
      Ogunleye Bello Onyeka Afolabi Danjuma Uzoma Ekwueme Lawal Akinyemi Nnamdi Olawale`,
  },
};
